/** A program that is no browser: jobs are taken, and fail at once. For tests of what all resources have in common. */
export const noBrowser = { CHROMIUM_PATH: process.execPath } as const
