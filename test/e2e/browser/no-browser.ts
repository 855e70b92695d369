/** A program that is not a browser: jobs are accepted and fail at once. For tests of behaviour common to all resources. */
export const noBrowser = { CHROMIUM_PATH: process.execPath } as const
