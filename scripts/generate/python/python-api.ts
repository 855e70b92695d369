import type { Operation } from '#specs/dsl/declare.ts'
import type { JsonSchema } from '#specs/dsl/schema.ts'
import { documentOf, isForClients, nextParameter } from '../called-operations.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { PythonLines } from './python-lines.ts'
import { pascal } from './python-types.ts'

const head = `"""
Calls of every resource that keys and client tokens may use. Made from the declarations by \`npm run generate\`; not to be edited.

    from troupe.api import Api

    agent = Api(troupe).agents.create({"name": "Shop", "config": {"model": "openai/gpt-5-mini"}})
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from typing import List, Literal, TypedDict, cast

from .client import AsyncTroupe
from .resource import AsyncResource, CallOptions, Resource, part
from .sync import Troupe

if sys.version_info >= (3, 11):
    from typing import NotRequired, Unpack
else:
    from typing_extensions import NotRequired, Unpack

`

/** A call: its parameters, what it passes on, and what it returns. */
interface PythonCall {
  readonly name: string
  readonly summary: string
  readonly parameters: string
  readonly passed: string
  readonly result: string
  readonly isList: boolean
}

/** `api.py`: the calls of all resources, with and without `await`, and their types. */
export const pythonApi = (operations: readonly Operation[]): GeneratedFile => {
  const types = new PythonLines()
  const called = operations.filter((each) => isForClients(each) && documentOf(each) !== null)
  const resources = [...Map.groupBy(called, ({ id }) => id.split('.')[0] ?? '')].map(([name, list]) => ({
    name,
    calls: list.map((each) => callOf(name, each, types)),
  }))
  const text = [
    ...[head, types.declarations(), '\n'],
    ...resources.flatMap(({ name, calls }) => [asyncClass(name, calls), syncClass(name, calls)]),
    ...['AsyncApi', 'Api'].map((name) => apiClass(name, resources)),
  ].join('\n')
  return { path: 'packages/python/src/troupe/api.py', text }
}

/** Words of the language, which name no method. */
const reserved = new Set([
  'import',
  'pass',
  'return',
  'del',
  'continue',
  'break',
  'raise',
  'from',
  'with',
  'yield',
  'try',
])

const callOf = (resource: string, operation: Operation, types: PythonLines): PythonCall => {
  const { id, method, paths, params, summary, body, query, files } = operation
  const verb = id.slice(resource.length + 1)
  const base = pascal(id)
  const path = `f"${paths[0].replace(/\{(\w+)\}/g, '{part($1)}')}"`.replace(/^f(?!.*\{)/, '')
  const isList = isPaged(operation)
  const document = documentOf(operation) ?? {}
  const result = types.answer(isList ? itemOf(document) : document, `${base}${isList ? 'Item' : 'Result'}`)
  const input = body === null ? queryOf(query) : body.json
  const type =
    input === null || (body === null && method !== 'GET')
      ? null
      : types.request(input, `${base}${body === null ? 'Query' : 'Body'}`)
  const isOptional =
    body === null ||
    files !== null ||
    (input?.required ?? []).every((name) => input?.properties?.[name]?.default !== undefined)
  const given =
    type === null ? [] : [`${body === null ? 'query' : 'body'}: ${type}${isOptional ? ' | None = None' : ''}`]
  const options = isList ? [] : ['**options: Unpack[CallOptions]']
  const name = body === null ? 'query' : 'body'
  const value = type === null ? [] : [isOptional && body !== null ? 'body or {}' : name]
  const how = isList ? '_pages' : body === null ? '_read' : '_send'
  const passed = [
    ...(isList ? [] : [`"${method}"`]),
    path,
    ...(isList && type === null ? ['None'] : value),
    ...(isList ? [] : ['**options']),
  ]
  return {
    ...{ name: reserved.has(verb) ? `${verb}_` : verb, summary, result, isList },
    parameters: ['self', ...params.map((each) => `${each}: str`), ...given, ...options].join(', '),
    passed: `self.${how}(${passed.join(', ')})`,
  }
}

const queryOf = (query: Operation['query']): JsonSchema | null =>
  Object.keys(query).length === 0
    ? null
    : { type: 'object', properties: Object.fromEntries(Object.entries(query).map(([name, { json }]) => [name, json])) }

/** Whether the client reads a list page by page: its items are in \`data\`. */
const isPaged = (operation: Operation): boolean =>
  nextParameter(operation) !== null && documentOf(operation)?.properties?.data?.type === 'array'

const itemOf = ({ properties = {} }: JsonSchema): JsonSchema => properties.data?.items ?? {}

/** What the client returns as the type of its operation. */
const typed = (type: string, value: string): string =>
  type === 'dict[str, object]' ? value : `cast("${type}", ${value})`

/** A call stands on one line: there are hundreds, which are read by editors. */
const asyncClass = (name: string, calls: readonly PythonCall[]): string => {
  const methods = calls.map(({ name: verb, summary, parameters, passed, result, isList }) => {
    const type = isList ? `AsyncGenerator[${result}, None]` : result
    const [kind, value] = isList ? ['def', passed] : ['async def', `await ${passed}`]
    return `    ${kind} ${verb}(${parameters}) -> ${type}: """${summary}."""; return ${typed(type, value)}\n`
  })
  return `class Async${pascal(name)}Calls(AsyncResource):\n${methods.join('')}`
}

const syncClass = (name: string, calls: readonly PythonCall[]): string => {
  const methods = calls.map(({ name: verb, parameters, passed, result, isList }) => {
    const type = isList ? `Iterator[${result}]` : result
    return `    def ${verb}(${parameters}) -> ${type}: return ${typed(type, passed)}\n`
  })
  return `class ${pascal(name)}Calls(Resource):\n${methods.join('')}`
}

const apiClass = (name: string, resources: readonly { readonly name: string }[]): string => {
  const [client, prefix] = name === 'Api' ? ['Troupe', ''] : ['AsyncTroupe', 'Async']
  const lines = resources.map((each) => `        self.${each.name} = ${prefix}${pascal(each.name)}Calls(client)\n`)
  return `class ${name}:\n    """All resources of the API with the credential of a client."""\n\n    def __init__(self, client: ${client}) -> None:\n${lines.join('')}\n`
}
