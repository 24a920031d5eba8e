/** For `rmSync`, of a directory whose last process may still be closing its files. */
export const GONE = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }
