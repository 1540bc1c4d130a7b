/** The address of a client as people write it: one of IPv4 also where it came to a socket of IPv6 (`::ffff:192.0.2.1`). */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
}

/**
 * The part of an address that one client has for itself: the whole of an IPv4 address, and the first half of an IPv6 one, since
 * whoever has one of those has 2 ** 64 of them.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!plain.includes(":")) return plain;
  const [left = [], right = []] = plain.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}
