import type { JsonObject } from '#specs/dsl/json.ts'

/** Input that a tool's server requests from a person, as shown to people. */
type ShownInput = {
  /** Name of the server, as the project registered it. */
  readonly server: string
  readonly server_url: string
  /** `form`: values that match `schema`. `url`: the person completes a task at `url`. */
  readonly mode: 'form' | 'url'
  readonly message: string
  /** JSON Schema of a flat object; null for `url`. */
  readonly schema: JsonObject | null
  readonly url: string | null
  /** Fields that appear to request secrets, which the protocol forbids in forms. */
  readonly secret_fields: readonly string[]
}

/** The request together with the data for resuming the call. */
export type RequiredInput = ShownInput & {
  /** Number of the request within its call, from 1. */
  readonly round: number
  /** Opaque data with which the tool's capability resumes the call; never shown. */
  readonly resume: string
}

/** Returns a request for input without the data that only the tool's capability needs. */
export const shownInput = ({
  server,
  server_url,
  mode,
  message,
  schema,
  url,
  secret_fields,
}: JsonObject): JsonObject => ({
  ...{ server: server ?? '', server_url: server_url ?? '', mode: mode ?? 'form', message: message ?? '' },
  ...{ schema: schema ?? null, url: url ?? null, secret_fields: secret_fields ?? [] },
})
