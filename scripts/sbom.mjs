// Writes bills of materials in the form of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/).
import { createHash } from "node:crypto";

/**
 * The bill of one artifact. `contains` are packages whose code is in it, `dependsOn` those that are installed beside it, each with
 * `{name, version, license}` and a `purl` where it is no package of npm. The same arguments give the same document.
 */
export function spdxDocument({ artifact, contains = [], dependsOn = [], created }) {
  const main = {
    ...described(artifact, "SPDXRef-Artifact"),
    packageFileName: artifact.fileName,
    checksums: artifact.checksums,
  };
  const inside = contains.map((part, i) => described(part, `SPDXRef-Contained-${i + 1}`));
  const beside = dependsOn.map((part, i) => described(part, `SPDXRef-Needed-${i + 1}`));
  const relate = (from, relationshipType, to) => ({ spdxElementId: from, relationshipType, relatedSpdxElement: to });
  const body = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: artifact.fileName,
    creationInfo: { created, creators: [`Tool: steps-release-${artifact.version}`] },
    packages: [main, ...inside, ...beside],
    relationships: [
      relate("SPDXRef-DOCUMENT", "DESCRIBES", main.SPDXID),
      ...inside.map(({ SPDXID }) => relate(main.SPDXID, "CONTAINS", SPDXID)),
      ...beside.map(({ SPDXID }) => relate(main.SPDXID, "DEPENDS_ON", SPDXID)),
    ],
  };
  const id = createHash("sha256").update(JSON.stringify(body)).digest("hex").slice(0, 32);
  return { ...body, documentNamespace: `https://spdx.org/spdxdocs/${artifact.fileName}-${id}` };
}

function described({ name, version, license, purl = purlOf(name, version) }, SPDXID) {
  return {
    SPDXID,
    name,
    versionInfo: version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: license,
    copyrightText: "NOASSERTION",
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
  };
}

/** The address of a package of npm, as https://github.com/package-url/purl-spec has it. */
function purlOf(name, version) {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}
