import type { ConnectorTool } from '#specs/data/connectors/connector-type.ts'
import type { JsonObject } from '#storage/ports.ts'

/** One request that a tool makes, whether the catalogue or an OpenAPI document has it. */
export type HttpOperation = {
  readonly name: string
  readonly description: string
  readonly method: ConnectorTool['method']
  /** With parameters in braces; added to the base URL. */
  readonly path: string
  readonly parameters: JsonObject
  /** Where arguments go that are in neither the path nor, by the method, the query or the body. */
  readonly places: Readonly<Record<string, 'path' | 'query' | 'header' | 'body'>>
  /** The argument that is the whole body; null: the body is an object of its arguments. */
  readonly whole_body: string | null
  readonly encoding: 'json' | 'form'
  readonly risk_level: ConnectorTool['risk_level']
}

/** A tool of the catalogue as an operation. */
export const operationOf = (tool: ConnectorTool): HttpOperation => ({
  name: tool.name,
  description: tool.description,
  method: tool.method,
  path: tool.path,
  parameters: tool.parameters,
  places: tool.places ?? {},
  whole_body: tool.wholeBody ?? null,
  encoding: tool.encoding ?? 'json',
  risk_level: tool.risk_level,
})
