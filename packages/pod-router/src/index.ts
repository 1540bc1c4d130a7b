export { readRouterConfig, type ReadRouterConfig } from "./config/read-router-config.ts";
export { ROUTER_DEFAULTS, type RouterConfig, type RouterPod } from "./config/router-config.ts";
export { type Router, type RouterOptions, startRouter } from "./start-router.ts";
export { decideRoute, type Evidence, type Route, type RoutedRequest } from "./routing/decide-route.ts";
