import type { JsonObject } from '#specs/dsl/json.ts'

/** HTTP request of a connector that agents call as a tool. The connection's base URL is prepended to its path. */
export interface ConnectorTool {
  /** Name of the tool for the model. */
  readonly name: string
  readonly description: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with parameters in braces. */
  readonly path: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /** Location of arguments that are not in the path. Default: query for GET and DELETE, body otherwise. */
  readonly places?: Readonly<Record<string, 'path' | 'query' | 'header' | 'body'>>
  /** Name of the argument that is the entire body; absent: the body is an object of its arguments. */
  readonly wholeBody?: string
  /** Default: JSON. */
  readonly encoding?: 'json' | 'form'
  readonly risk_level: 'low' | 'medium' | 'high' | 'critical'
}

/** OAuth configuration of a provider. */
interface ConnectorOAuth {
  readonly authorization_url: string
  readonly token_url: string
  readonly revocation_url: string | null
  /** Issuer identifier that the provider sends in `iss`; null when it sends none. */
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
  /** `api_key`: a key that does not expire; `oauth2`: a person signs in. */
  readonly auth: 'api_key' | 'oauth2'
  /** Base URL of the provider's API, with settings of the connection in braces; null: each connection has its own. */
  readonly base_url: string | null
  /** Fields of `config.settings`, or of the provider's token response, that the base URL contains. */
  readonly settings: readonly string[]
  /** How a key is sent: `<prefix><key>` in this header. */
  readonly key: { readonly header: string; readonly prefix: string }
  /** Further headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  readonly oauth: ConnectorOAuth | null
  /** A read-only request that identifies the signed-in account; null when there is none that all accounts may make. */
  readonly test: { readonly method: 'GET' | 'POST'; readonly path: string } | null
  readonly tools: readonly ConnectorTool[]
}

/** Returns a connector type, completed with defaults that most types share. */
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

/** Arguments by name. A name that ends with `?` is optional. */
type Arguments = Readonly<Record<string, JsonObject>>

/** Returns the JSON Schema of arguments. */
const argumentsOf = (fields: Arguments): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(fields).map(([name, schema]) => [bare(name), schema])),
  required: Object.keys(fields).filter((name) => !name.endsWith('?')),
  additionalProperties: false,
})

const bare = (name: string): string => name.replace(/\?$/, '')

/** Schema of a text argument. */
export const text = (description: string): JsonObject => ({ type: 'string', description })

/** Schema of an integer argument. */
export const whole = (description: string): JsonObject => ({ type: 'integer', description })

/** Schema of an argument that is one of these words. */
export const word = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: [...values] })

/** Schema of an argument that is a list of texts. */
export const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })

/** Schema of an argument that is any object. */
export const anyObject = (description: string): JsonObject => ({ type: 'object', description })

type Made = Pick<ConnectorTool, 'name' | 'description' | 'path'> &
  Partial<Omit<ConnectorTool, 'parameters'>> & { readonly takes?: Arguments }

/** Returns a tool that only reads. */
export const reads = ({ takes = {}, ...tool }: Made): ConnectorTool => ({
  method: 'GET',
  risk_level: 'low',
  ...tool,
  parameters: argumentsOf(takes),
})

/** Returns a tool that changes something at the provider. */
export const writes = ({ takes = {}, ...tool }: Made): ConnectorTool => ({
  method: 'POST',
  risk_level: 'high',
  ...tool,
  parameters: argumentsOf(takes),
})
