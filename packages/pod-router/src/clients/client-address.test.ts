import { expect, test } from "vitest";
import { networkOf, plainAddress } from "./client-address.ts";

test.each([
  ["192.0.2.1", "192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"],
  ["::1", "::1", "0:0:0:0"],
  ["::", "::", "0:0:0:0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8::6", "2001:db8:0:0"],
  ["2001:db8:1:2::", "2001:db8:1:2::", "2001:db8:1:2"],
  ["fe80::1%eth0", "fe80::1%eth0", "fe80:0:0:0"],
])("%s is shown as %s, and belongs to %s", (address, plain, network) => {
  expect([plainAddress(address), networkOf(address)]).toEqual([plain, network]);
});
