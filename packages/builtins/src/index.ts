export { isNativeCheckout } from "./checkout/checkout-inputs.ts";
export { checkoutStep } from "./checkout/checkout-step.ts";
export { BUILTIN_NAMES, builtinStep } from "./specs/builtin-specs.ts";
export { gitlabScriptStep, shellFunctions } from "./specs/gitlab-script-step.ts";
export { scriptStep } from "./specs/script-step.ts";
