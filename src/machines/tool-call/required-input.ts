import type { JsonObject } from '#specs/dsl/json.ts'

/** Input that the server of a tool requests of a person, as people see it. */
export type ShownInput = {
  /** Name of the server, as the project registered it. */
  readonly server: string
  readonly server_url: string
  /** `form`: values that match `schema`. `url`: the person completes a task at `url`. */
  readonly mode: 'form' | 'url'
  readonly message: string
  /** JSON Schema of a flat object; null for `url`. */
  readonly schema: JsonObject | null
  readonly url: string | null
  /** Fields that seem to be for secrets, which the protocol forbids to request so. */
  readonly secret_fields: readonly string[]
}

/** The same with what the call goes on with. */
export type RequiredInput = ShownInput & {
  /** Number of the question within its call, from 1. */
  readonly round: number
  /** What the tool's capability needs to go on; opaque here, and shown to no one. */
  readonly resume: string
}

/** A request for input without what only the server of the tool needs. */
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
