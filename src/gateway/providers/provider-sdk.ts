/** Requests that the official SDK of a provider makes. Each settles when the provider has answered. */
export interface ProviderSdk {
  /** Requests a page of the list of models; `after` is the cursor of the previous page. */
  readonly models: (after: string | null) => Promise<unknown>
  /** Sends a message to a model. */
  readonly chat: (request: ChatTrial) => Promise<unknown>
}

/** A short chat, as both SDKs take it. */
interface ChatTrial {
  readonly model: string
  readonly messages: { readonly role: 'user'; readonly content: string }[]
  readonly max_tokens: number
}

/** The `fetch` of an SDK, whose requests go to paths below `sdkBaseUrl`. */
export type SdkFetch = (url: unknown, init?: RequestInit) => Promise<Response>

/**
 * Options of every SDK. The server replaces address, key and limits of a request; what is not given here, an SDK
 * reads from the environment.
 */
export const sdkOptions = { apiKey: 'unused', maxRetries: 0, logLevel: 'off' } as const

/** The base URL of every SDK, with the version segment. */
export const sdkBaseUrl = 'http://provider.invalid/v1'
