/** A derived form, or a line of a value, of fewer characters would tear holes into every log and hides nothing. */
const MIN_FORM_LENGTH = 4;
/** Further lines are masked as they are, without what is derived from them. */
const MAX_DERIVED_LINES = 1000;
const MIN_AMPERSAND_LENGTH = 6;

/**
 * Everything to mask for a secret: the value, itself without surrounding blanks, each of its lines, and of each the forms
 * it takes when other programs print it: in Base64 (also when other text comes before or behind it), between double
 * quotes, in an expression, in JSON, a URI or XML, without its quotes, and cut at `&` as PowerShell does.
 *
 * Lines and derived forms of fewer than four characters are left out: the `{` of a secret that is JSON over several lines
 * would mask every brace of the log. The value itself is always masked, unless it is blank: then there is nothing to
 * hide, and the result is empty.
 */
export function maskForms(value: string): readonly string[] {
  const trimmed = value.trim();
  if (trimmed === "") return [];
  const forms = new Set<string>([value, trimmed]);
  const sources = new Set<string>([value, trimmed]);
  for (const line of trimmed.split(/[\r\n]+/)) {
    const text = line.trim();
    if (text.length < MIN_FORM_LENGTH) continue;
    forms.add(text);
    if (sources.size < MAX_DERIVED_LINES) sources.add(text);
  }
  for (const source of sources) {
    for (const form of derivedForms(source)) if (form.length >= MIN_FORM_LENGTH) forms.add(form);
  }
  return [...forms];
}

function derivedForms(value: string): readonly string[] {
  return [
    ...base64Forms(value),
    value.replaceAll('"', '\\"'),
    value.replaceAll("'", "''"),
    ...jsonForms(value),
    ...uriForms(value),
    ...xmlForms(value),
    withoutQuotes(value),
    ...ampersandParts(value),
  ];
}

function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const forms: string[] = [];
  for (const shift of [0, 1, 2]) {
    const rest = bytes.subarray(shift);
    if (rest.length < 3) continue;
    // The text that follows the value changes how its last one or two bytes are encoded, never those before.
    const stable = rest.subarray(0, rest.length - (rest.length % 3));
    for (const part of [rest, stable]) {
      const padded = part.toString("base64");
      forms.push(padded, padded.replace(/=+$/, ""), part.toString("base64url"));
    }
  }
  return forms;
}

function jsonForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [json, json.replaceAll(/[^\0-\x7F]/g, escape), json.replaceAll(/[<>&\u2028\u2029]/g, escape)];
}

function uriForms(value: string): readonly string[] {
  const component = encodeURIComponent(value.toWellFormed());
  const strict = component.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [component, strict, strict.replaceAll("%20", "+")];
}

function xmlForms(value: string): readonly string[] {
  const content = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const attribute = content.replaceAll('"', "&quot;");
  return [content, attribute, attribute.replaceAll("'", "&apos;"), attribute.replaceAll("'", "&#39;")];
}

function withoutQuotes(value: string): string {
  const first = value[0];
  return (first === '"' || first === "'") && value.endsWith(first) ? value.slice(1, -1) : "";
}

// An error of PowerShell colours a command up to its "&", and up to the character behind "&+".
function ampersandParts(value: string): readonly string[] {
  const plus = value.indexOf("&+");
  const last = value.lastIndexOf("&");
  if (last < 0) return [];
  const parts =
    plus < 0 ? [value.slice(0, last + 1), value.slice(last + 1)] : [value.slice(0, plus + 2), value.slice(plus + 3)];
  return parts.filter((part) => part.length >= MIN_AMPERSAND_LENGTH);
}
