import type { Authorize } from '#gateway/call/authorization/authorization.ts'
import type { ChatFormat } from '#gateway/call/chat-format.ts'
import type { Route } from '#gateway/call/routes.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { ProviderSettings } from '#specs/data/provider-credentials.ts'
import type { MessagesService } from './anthropic/messages-service.ts'
import type { EmbeddingFormat } from './embedding-format.ts'
import type { ImageFormat } from './image-format.ts'
import type { ProviderSdk, SdkFetch } from './provider-sdk.ts'
import type { VoiceFormat } from './voice/voice-format.ts'

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>

/** Everything that is specific to the API of a provider. What is absent, the providers of this format do not offer. */
export interface ProviderFormat {
  /** Headers of every request: the API key where there is one, and what the API always requires. */
  readonly headers: (route: Pick<Route, 'apiKey'>) => Headers
  /**
   * Headers that need a token, or a signature of the request. They are added as a request is sent. Absent: `headers`
   * has everything.
   */
  readonly authorize?: Authorize
  /** Path of one of OpenAI's operations, where it is not that of OpenAI. */
  readonly path?: (route: Pick<Route, 'model' | 'wireModel' | 'settings'>, operation: string) => string
  /** Completes a base URL, in whichever way the user wrote it. */
  readonly address?: (baseUrl: string, settings: ProviderSettings | undefined) => string
  /** Version segment of the base URL, for APIs whose SDKs leave it out; users write the URL either way. */
  readonly version?: string
  /** Chat; null for OpenAI's own format, which is passed through unchanged. */
  readonly chat?: ChatFormat | null
  /** What it has of Anthropic's Messages API for the model of a route; null or absent: the model is reached by another API. */
  readonly messages?: (route: Route) => MessagesService | null
  readonly embeddings?: EmbeddingFormat
  readonly voice?: VoiceFormat
  /** Sessions of OpenAI's Realtime API over WebSocket: the path, with the query, for a model under its wire name. */
  readonly realtime?: { readonly path: (model: string) => string }
  readonly images?: ImageFormat
  /** Limits of images in chats; absent: `usualImages`. */
  readonly imageLimits?: ImageLimits
  readonly models?: ModelList
  /** The official SDK, for requests that are no model calls. */
  readonly sdk?: (fetch: SdkFetch) => Promise<ProviderSdk>
  readonly keyCheck?: KeyCheck
}

interface ModelList {
  /** Returns the path below the base URL; `after` is the cursor of the previous page. Absent: the SDK knows it. */
  readonly path?: (after: string | null, settings: ProviderSettings | undefined) => string
  /** The base URL of the list, where it is another than that of the models. */
  readonly base?: (baseUrl: string) => string
  /** Returns the models in an answer; null when it is no list. */
  readonly rows: (json: unknown) => readonly unknown[] | null
  readonly model: (row: WireObject) => ListedModel
  /** Returns the cursor of the next page; null on the last page. */
  readonly next?: (json: unknown, after: string | null) => string | null
}

/** A model as its provider lists it: unvalidated. */
export interface ListedModel {
  readonly id: unknown
  readonly name: unknown
  /** Absent when the provider does not report it. */
  readonly contextWindow?: unknown
}

/** How a key is checked free of charge: `get` requires a valid key; `post` refuses an empty body after the key. */
export type KeyCheck = { readonly get: string } | { readonly post: string }

export interface ImageLimits {
  readonly types: readonly string[]
  /** Maximum size of one decoded image. */
  readonly maxBytes: number
  /** Whether the provider fetches https URLs itself. */
  readonly fetches: boolean
}

/** Limits for providers without documented ones: types that are supported everywhere. */
export const usualImages: ImageLimits = {
  types: ['image/jpeg', 'image/png', 'image/webp', 'image/gif'],
  maxBytes: 20 * 1024 * 1024,
  fetches: true,
}

/** Returns the authorization header; empty without an API key. */
export const bearer = ({ apiKey }: Pick<Route, 'apiKey'>): Headers =>
  apiKey === null || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }

/** Returns a value if it is a list. */
export const listIn = (value: unknown): readonly unknown[] | null => (Array.isArray(value) ? value : null)
