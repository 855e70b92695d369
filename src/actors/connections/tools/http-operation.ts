import type { ConnectorTool } from '#specs/data/connectors/connector-type.ts'
import type { JsonObject } from '#storage/index.ts'

/** A request that a tool makes, defined by the catalogue or an OpenAPI document. */
export type HttpOperation = {
  readonly name: string
  readonly description: string
  readonly method: ConnectorTool['method']
  /** Path with parameters in braces, appended to the base URL. */
  readonly path: string
  readonly parameters: JsonObject
  /** Location of arguments that are not where the path and method imply. */
  readonly places: Readonly<Record<string, 'path' | 'query' | 'header' | 'body'>>
  /** Name of the argument that is the entire body; null: the body is an object of its arguments. */
  readonly whole_body: string | null
  readonly encoding: 'json' | 'form'
  readonly risk_level: ConnectorTool['risk_level']
}

/** Converts a catalogue tool to an operation. */
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
