/** The rules of gitlab-runner for a runner whose requests are refused. */
export interface HealthRules {
  readonly unhealthy_requests_limit: number;
  /** Seconds. */
  readonly unhealthy_interval: number;
}

/**
 * Whether a runner may ask for jobs. Requests that are refused (403), and such as cannot be made at all, count against it: so
 * many in a row switch it off for the interval, after which it may try again. Anything else that a server answers, or a server
 * that cannot be reached, says nothing against the runner.
 */
export class Health {
  readonly #rules: HealthRules;
  readonly #now: () => number;
  #refusals = 0;
  #offUntil = 0;

  /** @param now Gives milliseconds that only grow. */
  constructor(rules: HealthRules, now: () => number = () => performance.now()) {
    this.#rules = rules;
    this.#now = now;
  }

  /** Milliseconds until it may ask again; 0: now. */
  get offForMs(): number {
    return Math.max(0, this.#offUntil - this.#now());
  }

  /** The request was answered. */
  noteHealthy(): void {
    this.#refusals = 0;
  }

  /** The request was refused. Gives whether the runner is switched off by it. */
  noteRefused(): boolean {
    this.#refusals += 1;
    if (this.#refusals < this.#rules.unhealthy_requests_limit) return false;
    this.#refusals = 0;
    this.#offUntil = this.#now() + this.#rules.unhealthy_interval * 1000;
    return true;
  }
}
