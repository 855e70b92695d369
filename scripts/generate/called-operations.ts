import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'

/** Whether the clients have a call of the operation: one that keys or client tokens may use, over HTTP. */
export const isForClients = ({ access, frames }: Operation): boolean =>
  frames === null &&
  access.kinds.some((kind) => kind === 'secret_key' || kind === 'client_token' || kind === 'agent_key')

/** Parameter of the next page of a list; null if the operation is none. */
export const nextParameter = ({ query, answer }: Operation): string | null =>
  (answer.kind === 'json' && ['cursor', 'starting_after', 'after', 'after_id'].find((name) => name in query)) || null

/** Schema of the document that an operation may answer; null if it answers streams or bytes alone. */
export const documentOf = ({ answer }: Operation): JsonSchema | null => {
  if (answer.kind === 'json') return answer.schema.json
  return answer.kind === 'choice' ? answer.json.schema.json : null
}
