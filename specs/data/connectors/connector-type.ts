import type { JsonObject } from '#specs/dsl/json.ts'

/** One HTTP call of a connector, as an agent's tool. Its path is added to the base URL of the connection. */
export interface ConnectorTool {
  /** What the model calls it by. */
  readonly name: string
  readonly description: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters in braces. */
  readonly path: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /** Where each argument goes that is not in the path. Absent: the query of GET and DELETE, the body of others. */
  readonly places?: Readonly<Record<string, 'path' | 'query' | 'header' | 'body'>>
  /** The argument that is the whole body; absent: the body is an object of its arguments. */
  readonly wholeBody?: string
  /** Default: JSON. */
  readonly encoding?: 'json' | 'form'
  readonly risk_level: 'low' | 'medium' | 'high' | 'critical'
}

/** How a provider lets people sign in. */
export interface ConnectorOAuth {
  readonly authorization_url: string
  readonly token_url: string
  readonly revocation_url: string | null
  /** As the provider names itself in `iss`; null where it does not. */
  readonly issuer: string | null
  readonly scopes: readonly string[]
  readonly token_auth_method: 'client_secret_basic' | 'client_secret_post'
  /** Further parameters of the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** A kind of service to which connections can be created. */
export interface ConnectorType {
  readonly id: string
  readonly name: string
  readonly description: string
  /** `api_key`: a key that does not end; `oauth2`: a person signs in. */
  readonly auth: 'api_key' | 'oauth2'
  /** Of the provider's API; null: each connection says it. With a name in braces: a setting of the connection. */
  readonly base_url: string | null
  /** Fields of `config.settings`, or of the provider's token response, that the base URL needs. */
  readonly settings: readonly string[]
  /** How a key is sent: `<prefix><key>` in this header. */
  readonly key: { readonly header: string; readonly prefix: string }
  /** Further headers of each request. */
  readonly headers: Readonly<Record<string, string>>
  readonly oauth: ConnectorOAuth | null
  /** The path of a call that only reads who is signed in; null where there is none that all accounts may call. */
  readonly test: { readonly method: 'GET' | 'POST'; readonly path: string } | null
  readonly tools: readonly ConnectorTool[]
}

/** A type with what most have in common. */
export const connectorType = (
  type: Pick<ConnectorType, 'id' | 'name' | 'description' | 'auth'> & Partial<ConnectorType>,
): ConnectorType => ({
  base_url: null,
  settings: [],
  key: { header: 'authorization', prefix: 'Bearer ' },
  headers: {},
  oauth: null,
  test: null,
  tools: [],
  ...type,
})

/** Arguments by name; a name that ends in `?` may be left out. */
export type Arguments = Readonly<Record<string, JsonObject>>

/** JSON Schema of arguments. */
export const argumentsOf = (fields: Arguments): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(fields).map(([name, schema]) => [bare(name), schema])),
  required: Object.keys(fields).filter((name) => !name.endsWith('?')),
  additionalProperties: false,
})

const bare = (name: string): string => name.replace(/\?$/, '')

/** A text argument. */
export const text = (description: string): JsonObject => ({ type: 'string', description })

/** A whole number. */
export const whole = (description: string): JsonObject => ({ type: 'integer', description })

/** One of these words. */
export const word = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: [...values] })

/** A list of texts. */
export const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })

/** Any object. */
export const anyObject = (description: string): JsonObject => ({ type: 'object', description })

type Made = Pick<ConnectorTool, 'name' | 'description' | 'path'> &
  Partial<Omit<ConnectorTool, 'parameters'>> & { readonly takes?: Arguments }

/** A tool that only reads. */
export const reads = ({ takes = {}, ...tool }: Made): ConnectorTool => ({
  method: 'GET',
  risk_level: 'low',
  ...tool,
  parameters: argumentsOf(takes),
})

/** A tool that changes something at the provider. */
export const writes = ({ takes = {}, ...tool }: Made): ConnectorTool => ({
  method: 'POST',
  risk_level: 'high',
  ...tool,
  parameters: argumentsOf(takes),
})
