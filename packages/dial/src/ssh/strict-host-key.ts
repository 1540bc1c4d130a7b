/** `yes`: only hosts that are known. `accept-new`: hosts that are not are added; a key that changed is refused all the same. */
export type StrictHostKey = "yes" | "accept-new";
