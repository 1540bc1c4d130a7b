import { describe, expect, test } from "vitest";
import { DEFAULT_KEYWORDS, GLOBAL_KEYWORDS, IGNORED_KEYWORDS, UNSUPPORTED_KEYWORDS } from "../../src/keywords.ts";
import { JOB_SHAPES, ROOT_SHAPES } from "../../src/load/schema/keyword-shapes.ts";
import { complaints, load } from "./fixtures.ts";

/** One job that uses every keyword that can stand beside the others, in every form that it may have. */
const VALID = `
$schema: https://gitlab.com/.gitlab-ci.yml
stages: [build, [test], deploy]
variables: {A: 1, B: {value: x, description: d, options: [x, y], expand: false}, C: ~, D: yes}
workflow:
  name: $A
  auto_cancel: {on_new_commit: interruptible, on_job_failure: all}
  rules:
    - {if: $CI, changes: [a], exists: {paths: [b], project: p, ref: r}, variables: {V: 1}, when: always, auto_cancel: {on_new_commit: none}}
    - {when: never}
default:
  image: {name: alpine, entrypoint: [""], pull_policy: [always, never], docker: {platform: x, user: "1"}, kubernetes: {user: 1000}}
  services: [postgres, {name: redis, alias: r, command: [a], entrypoint: [b], variables: {X: y}, pull_policy: always}]
  cache: [{key: {files: [a, b], prefix: p}, paths: [c], policy: $P, unprotect: true, untracked: false, when: always, fallback_keys: [x]}, {key: k}]
  retry: {max: 2, when: [script_failure, always], exit_codes: [1, 2]}
  tags: [a, [b]]
  timeout: 1h 30m
  interruptible: true
  id_tokens: {T: {aud: [a, b]}, U: {aud: x}}
  hooks: {pre_get_sources_script: [echo]}
  artifacts: {paths: [a], exclude: [b], name: n, expose_as: e, when: on_failure, expire_in: never, untracked: true, public: false, reports: {junit: [x], dotenv: y, coverage_report: {coverage_format: cobertura, path: p}}}
  identity: google_cloud
build:
  stage: build
  script: [echo, [a, [b]], "c: d"]
  after_script: echo
  allow_failure: {exit_codes: [1, 2]}
  coverage: '/\\d+/'
  environment: {name: e, url: u, on_stop: x, action: stop, auto_stop_in: 1 day, deployment_tier: production, kubernetes: {agent: a}}
  release: {tag_name: t, description: d, milestones: [m], assets: {links: [{name: n, url: u, link_type: other}]}}
  rules:
    - {if: '$A == "x"', when: manual, allow_failure: true, needs: [], interruptible: false, variables: {R: 1}}
    - [{changes: {paths: [x], compare_to: main}}, {when: delayed, start_in: 5 minutes}]
  secrets: {S: {vault: a/b/c@ops, file: false, token: $T}, G: {gitlab_secrets_manager: {name: x}}}
  inputs: {i: {default: a, type: string, options: [a], description: d, regex: x}}
  resource_group: g
  parallel: 2
  inherit: {default: [image], variables: false}
  manual_confirmation: sure?
  dast_configuration: {site_profile: s, scanner_profile: t}
test:
  extends: build
  rules: ~
  needs: [build, {job: build, artifacts: false, optional: true, parallel: {matrix: [{A: b}]}}, {project: p, job: j, ref: r, artifacts: true}, {pipeline: p, job: j}]
  dependencies: [build]
  only: {refs: [main, /x/], variables: [$A], changes: [x], kubernetes: active}
  except: [tags]
  pages: {path_prefix: p, expire_in: never, publish: public}
  image: alpine
  cache: {}
  allow_failure: true
  environment: prod
  retry: 1
  when: delayed
  start_in: 5 seconds
run: {run: [{name: a, script: b}]}
trigger: {stage: deploy, trigger: {include: [{local: x.yml, inputs: {a: 1}}, {artifact: a, job: b}], strategy: depend, forward: {yaml_variables: true}}}
project: {trigger: {project: a/b, branch: c, strategy: mirror}}
short: {trigger: a/b}
`;

describe("keywords", () => {
  test("of every form give no diagnostics", () => {
    expect(load(VALID).diagnostics).toEqual([]);
  });

  test("all have a shape", () => {
    expect(Object.keys(JOB_SHAPES)).toEqual(expect.arrayContaining([...IGNORED_KEYWORDS]));
    expect(Object.keys(JOB_SHAPES)).toEqual(expect.arrayContaining(Object.keys(UNSUPPORTED_KEYWORDS)));
    expect(Object.keys(JOB_SHAPES)).toEqual(expect.arrayContaining([...DEFAULT_KEYWORDS]));
    const elsewhere = ["include", "spec", "stages"];
    expect([...Object.keys(ROOT_SHAPES), ...elsewhere].toSorted()).toEqual(GLOBAL_KEYWORDS.toSorted());
  });

  test.each([
    ["script: {a: b}", "invalid-script"],
    ["script: 7", "invalid-script"],
    ["script: s, after_script: [7]", "invalid-script"],
    ["script: s, image: 1.0", "wrong-type"],
    ["script: s, image: {entrypoint: []}", "missing-key"],
    ["script: s, image: {name: a, pull_policy: sometimes}", "invalid-value"],
    ["script: s, services: postgres", "wrong-type"],
    ["script: s, tags: x", "wrong-type"],
    ["script: s, tags: [1]", "wrong-type"],
    ["script: s, tags: [~]", "wrong-type"],
    ["script: s, timeout: 3600", "wrong-type"],
    ["script: s, retry: 3", "wrong-type"],
    ["script: s, retry: {when: script_failed}", "invalid-value"],
    ["script: s, when: never", "invalid-value"],
    ["script: s, allow_failure: sometimes", "wrong-type"],
    ["script: s, allow_failure: {exit_codes: [x]}", "wrong-type"],
    ["script: s, artifacts: {path: [a]}", "unknown-key"],
    ["script: s, artifacts: {reports: {junt: a}}", "unknown-key"],
    ["script: s, cache: {policy: pul}", "invalid-value"],
    ["script: s, cache: [a]", "wrong-type"],
    ["script: s, rules: {if: a}", "wrong-type"],
    ["script: s, rules: [{fi: a}]", "unknown-key"],
    ["script: s, rules: [{changes: a}]", "wrong-type"],
    ["script: s, needs: test", "wrong-type"],
    ["script: s, variables: {A: [b]}", "invalid-variables"],
    ["script: s, variables: [A]", "invalid-variables"],
    ["script: s, inherit: {default: x}", "wrong-type"],
    ["script: s, inputs: {a: {type: string}}", "missing-key"],
    ["script: s, release: {tag_name: x}", "missing-key"],
    ["script: s, timeout: 2026-01-01", "wrong-type"],
    ["script: s, scripts: s", "unknown-key"],
    ["script: s, run: []", "conflicting-keys"],
    ["script: s, trigger: a/b", "conflicting-keys"],
    ["script: s, rules: [{when: always}], only: [a]", "conflicting-keys"],
    ["script: s, rules: []", "wrong-type"],
    ["image: a", "missing-script"],
  ])("%s is wrong", (job, code) => {
    const { diagnostics } = load(`test: {${job}}\n`);
    expect(diagnostics.map((one) => one.code)).toEqual([code]);
  });

  test.each([
    ["default: {script: s}", "unknown-key"],
    ["default: x", "wrong-type"],
    ["workflow: {rules: [{when: manual}]}", "invalid-value"],
    ["variables: {A-B: x}", "invalid-name"],
    ["stages: [test, {a: b}]", "wrong-type"],
    ["image: a\ndefault: {image: b}", "conflicting-keys"],
    ["varables: {A: b}", "missing-script"],
    ["text: x", "invalid-job"],
    ["nil: {script: s}", "invalid-job"],
    [`${"x".repeat(256)}: {script: s}`, "invalid-job"],
  ])("%s at the top is wrong", (text, code) => {
    expect(load(`${text}\ntest: {script: s}\n`).diagnostics.map((one) => one.code)).toEqual([code]);
  });

  test("that jobs share are complained of once", () => {
    const text = ".base: {image: 7}\na: {extends: .base, script: s}\nb: {extends: .base, script: s}\n";
    expect(complaints(load(text))).toEqual(["error wrong-type .gitlab-ci.yml:1"]);
  });

  test("may hold anything in a hidden job that nobody extends", () => {
    expect(load(".x: [1, {script: {}}]\n.y: {foo: bar}\ntest: {script: s}").diagnostics).toEqual([]);
  });
});
