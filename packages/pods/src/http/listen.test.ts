import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Answered, listen } from "./listen.ts";
import { route } from "./route.ts";

test("listen() names requests by their route, and never by a text of a client: each name would be a row of the metrics for ever", async () => {
  const answered: Answered[] = [];
  const routes = [route("GET", "/jobs/:id/artifacts/:name", async (exchange) => exchange.empty(204))];
  const where = { host: "127.0.0.1", port: 0, prefix: "/pods/1" };
  const server = await listen(routes, where, (answer) => void answered.push(answer));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const path of ["/jobs/1/artifacts/archive", "/pods/1/jobs/22/artifacts/any%20name/", "/jobs/1/other", "/any"])
    await fetch(url + path);
  await fetch(`${url}/jobs/1/artifacts/archive`, { method: "DELETE" });
  const known = { method: "GET", route: "/jobs/:id/artifacts/:name", status: 204 };
  const other = { method: "GET", route: "other", status: 404 };
  expect(answered).toEqual([known, known, other, other, { method: "DELETE", route: "other", status: 405 }]);
});
