/** The longest delay of a timer of JavaScript, in milliseconds: nearly 25 days. A longer one would fire at once. */
export const MAX_TIMER_MS: number = 2_147_483_647;
