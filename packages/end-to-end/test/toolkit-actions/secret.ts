import * as core from "@actions/core";

// A secret that nobody else knows of until now, in all the forms that it comes out in.
const secret = ["hush", '"quoted" & <tag>', core.getInput("salt")].join("/");
core.setSecret(secret);
core.setSecret("first line of two\nsecond line of two");
core.info(`plain ${secret}`);
core.info(`base64 ${Buffer.from(secret).toString("base64")}`);
for (const user of ["u", "us", "use"]) core.info(`basic ${Buffer.from(`${user}:${secret}`).toString("base64")}`);
core.info(`json ${JSON.stringify({ secret })}`);
core.info(`uri ${encodeURIComponent(secret)}`);
core.info("line second line of two");
core.warning(`warned of ${secret}`);
core.setOutput("secret", secret);
core.setOutput("encoded", Buffer.from(secret).toString("base64"));
core.exportVariable("SECRET_MADE", secret);
void core.summary.addRaw(`summary ${secret}`, true).write();
