/** A browser job, as far as the image's check reads it. */
export interface BrowserJob {
  readonly id: string
  readonly status: string
  readonly result: { readonly screenshot: string | null } | null
}

/** Trusts the answer of a server that this check has started. */
export const browserJob = (answer: unknown): BrowserJob => answer as BrowserJob
