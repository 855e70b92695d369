import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { openapiFile } from '#scripts/generate/openapi.ts'
import { secretKeyOnly } from '#specs/access.ts'
import { answersEvents, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations, type Operation } from '#specs/dsl/declare.ts'
import { defaulted, integer, nullable, object, optional, string } from '#specs/dsl/schema.ts'
import { webhookEventTypes } from '#specs/events/webhook-events.ts'

const declared: readonly Operation[] = Object.values(operations)
const document = JSON.parse(openapiFile(declared, '1.2.3').text)

/** All values of a key at any depth. */
const valuesOf = (value: unknown, key: string): readonly unknown[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => (name === key ? [child] : valuesOf(child, key)))
}

/** All objects with this key at any depth. */
const schemasWith = (value: unknown, key: string): readonly object[] => {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap((child) => schemasWith(child, key))
  return key in value ? [value, ...inner] : inner
}

const nameIn = (ref: string): string => ref.split('/').at(-1) ?? ''

/** The word from which generators derive a class name: schemas with the same word would be one class. */
const asClass = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()

/** Words from which generators name the inline objects of a component: its name and the path of fields. */
const inlineNames = (schema: unknown, name: string): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, items, type }: { properties?: object; items?: unknown; type?: unknown } = schema
  const inner = Object.entries(properties).flatMap(([field, child]) => inlineNames(child, `${name}${field}`))
  const isClass = type === 'object' || 'enum' in schema
  return [...(isClass ? [asClass(name)] : []), ...inner, ...inlineNames(items, `${name}item`)]
}

describe('the OpenAPI document', () => {
  it('has every operation under its first path, and lists the others', () => {
    for (const { id, method, paths } of declared) {
      const operation = document.paths[paths[0]][method.toLowerCase()]
      expect(operation.operationId).toBe(id)
      expect(operation['x-also-at'] ?? []).toEqual(paths.slice(1))
    }
  })

  it('has every webhook event with its schema', () => {
    const { callbacks } = document.paths['/v1/webhooks'].post
    expect(Object.keys(callbacks)).toEqual(webhookEventTypes)
    for (const type of webhookEventTypes) {
      const { security, requestBody } = callbacks[type]['{$request.body#/url}'].post
      expect(security).toEqual([])
      const { schema } = requestBody.content['application/json']
      const { properties } = document.components.schemas[nameIn(schema.$ref)]
      expect(properties).toMatchObject({ type: { const: type }, data: { properties: { tenant_id: {} } } })
    }
  })

  it('has no dangling reference', () => {
    const places = valuesOf(document, '$ref').map((ref) => String(ref).split('/').slice(2))
    expect(places.length).toBeGreaterThan(100)
    expect(places.filter(([kind = '', name = '']) => !(name in document.components[kind]))).toEqual([])
  })

  it('has no component whose name generators would also give to an inline object or enum', () => {
    const schemas: Readonly<Record<string, { properties?: object }>> = document.components.schemas
    const components = new Set(Object.keys(schemas).map(asClass))
    expect(components.size).toBe(Object.keys(schemas).length)
    const inline = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, child]) => inlineNames(child, `${name}${field}`)),
    )
    expect(inline.length).toBeGreaterThan(20)
    expect(inline.filter((name) => components.has(name))).toEqual([])
  })

  it('has no component whose name oapi-codegen gives to the response of an operation, and no list of types', () => {
    const responses = new Set(declared.map(({ id }) => `${asClass(id)}response`))
    expect(Object.keys(document.components.schemas).filter((name) => responses.has(asClass(name)))).toEqual([])
    const lists = valuesOf(document, 'type').filter((type) => Array.isArray(type) && type.length > 2)
    expect(lists).toEqual([])
  })

  it('says the default of words of which one is null in a sentence, which openapi-generator cannot express in Go', () => {
    const words = schemasWith(document, 'enum').filter(
      (schema) => 'enum' in schema && [schema.enum].flat().includes(null),
    )
    expect(words.length).toBeGreaterThan(0)
    expect(words.filter((schema) => 'default' in schema)).toEqual([])
    expect(document.components.schemas.OidcConnection.properties.default_role.description).toContain(
      'Default: `"member"`',
    )
  })

  it('has no object with two maps of unnamed words, which openapi-generator would give one name', () => {
    const maps = (schema: object): number =>
      Object.values(Object.entries(schema).find(([key]) => key === 'properties')?.[1] ?? {}).filter(
        (field) => typeof field === 'object' && field !== null && 'enum' in Object(Object(field).additionalProperties),
      ).length
    expect(
      schemasWith(document, 'properties')
        .map(maps)
        .filter((count) => count > 1),
    ).toEqual([])
    expect(schemasWith(document, 'properties').map(maps)).toContain(1)
  })

  it('has no component with a common type name of languages and HTTP clients', () => {
    const taken = ['response', 'request', 'error', 'client', 'any', 'list', 'object', 'type', 'string', 'file']
    const names = Object.keys(document.components.schemas).map(asClass)
    expect(names.filter((name) => taken.includes(name))).toEqual([])
  })

  it('has one spelling of each field, and a type for every constant', () => {
    for (const properties of valuesOf(document, 'properties')) {
      const names = Object.keys(Object(properties)).map(asClass)
      expect(new Set(names).size, names.join()).toBe(names.length)
    }
    const fixed = Object.values<unknown>(document.components.schemas).flatMap((schema) => schemasWith(schema, 'const'))
    expect(fixed.length).toBeGreaterThan(10)
    expect(fixed.filter((schema) => !('type' in schema))).toEqual([])
  })

  it('has no union of a list and a map, for which openapi-generator writes invalid Java', () => {
    const isMap = (schema: unknown) => JSON.stringify(schema).startsWith('{"type":"object","additionalProperties":{')
    const isList = (schema: unknown) => JSON.stringify(schema).startsWith('{"type":"array"')
    const choices = valuesOf(document, 'anyOf').filter((found) => Array.isArray(found))
    expect(choices.length).toBeGreaterThan(50)
    expect(choices.filter((found) => found.some(isMap) && found.some(isList))).toEqual([])
  })

  it('has a name for the input of a turn, by which generators for Java are told to take any value', () => {
    const { TurnInput, TurnRequest } = document.components.schemas
    expect(TurnRequest.properties.input).toEqual({ $ref: '#/components/schemas/TurnInput' })
    expect(TurnInput.anyOf).toMatchObject([{ type: 'string' }, { type: 'array' }])
  })

  it('has names for free-form objects of events, since openapi-generator loses the type of unnamed ones', () => {
    const { RunChildCompleted, RunCompleted, RunOutput } = document.components.schemas
    const named = { anyOf: [{ $ref: '#/components/schemas/RunOutput' }, { type: 'null' }] }
    expect([RunChildCompleted.properties.output, RunCompleted.properties.output]).toEqual([named, named])
    expect(RunOutput).toMatchObject({ type: 'object', additionalProperties: true })
  })

  const bodies: readonly { readonly content: Readonly<Record<string, { readonly schema: object }>> }[] = declared
    .filter(({ body }) => body !== null)
    .map(({ method, paths }) => document.paths[paths[0]][method.toLowerCase()].requestBody)
  const contentOf = (type: string) => bodies.flatMap(({ content }) => content[type]?.schema ?? [])

  it('has no default in a request body, since generators require a field that has one', () => {
    const seen = new Set<string>()
    const within = (schema: unknown): readonly unknown[] => {
      const names = valuesOf(schema, '$ref').map((ref) => nameIn(String(ref)))
      const fresh = names.filter((name) => !seen.has(name))
      for (const name of fresh) seen.add(name)
      return [schema, ...fresh.flatMap((name) => within(document.components.schemas[name]))]
    }
    const schemas = bodies.flatMap(({ content }) => Object.values(content)).flatMap(({ schema }) => within(schema))
    expect(schemas.length).toBeGreaterThan(200)
    const fields = schemas
      .flatMap((schema) => valuesOf(schema, 'properties'))
      .flatMap((each) => Object.values(Object(each)))
    expect(fields.filter((field) => 'default' in Object(field))).toEqual([])
    expect(fields.filter((field) => /Default: `/.test(Object(field).description)).length).toBeGreaterThan(20)
    const { properties } = document.components.schemas.SessionsCreateRequest
    expect(properties.metadata.description).toContain('Default: `{}`.')
  })

  it('has each form in place, since generators leave out components that only a form uses', () => {
    const forms = contentOf('multipart/form-data')
    expect(forms.length).toBeGreaterThan(5)
    expect(forms.filter((schema) => '$ref' in schema)).toEqual([])
    expect(contentOf('application/json').filter((schema) => !('$ref' in schema))).toEqual([])
  })

  it('types the events of every stream, and allows the stream as one text', () => {
    const streams = valuesOf(document.paths, 'text/event-stream').map((stream) => Object(stream).schema)
    expect(streams.length).toBeGreaterThan(12)
    for (const { $ref } of streams) {
      const { anyOf } = document.components.schemas[nameIn($ref)]
      expect(anyOf).toEqual([{ $ref: expect.any(String) }, { type: 'string' }])
      const { anyOf: choice = [], properties = {} } = document.components.schemas[nameIn(anyOf[0].$ref)]
      expect(choice.length + Object.keys(properties).length).toBeGreaterThan(0)
    }
    const { SessionStreamEvent } = document.components.schemas
    expect(SessionStreamEvent.anyOf).toContainEqual({ $ref: '#/components/schemas/OutputTextDelta' })
  })

  it('has a schema for every kind of content', () => {
    const kinds = valuesOf(document.paths, 'content').flatMap((content) => Object.values(Object(content)))
    expect(kinds.filter((kind) => !('schema' in Object(kind)))).toEqual([])
  })

  it('has a body for every error response, since generators drop the types of all if one has none', () => {
    const bare = Object.entries(document.components.responses).filter(
      ([, response]) => valuesOf(response, 'content').length === 0,
    )
    expect(bare).toEqual([])
  })

  it('shares the error responses of a status between operations', () => {
    const operationsOf = Object.values<object>(document.paths).flatMap((each) => Object.values(each))
    const failures = operationsOf.flatMap(({ responses }) =>
      Object.entries<{ $ref?: string }>(responses).filter(([status]) => Number(status) >= 400),
    )
    expect(failures.length).toBeGreaterThan(500)
    expect(failures.filter(([, { $ref }]) => $ref?.startsWith('#/components/responses/') !== true)).toEqual([])
  })

  it('lists the parameters of every path', () => {
    for (const { paths, method, params } of declared) {
      const { parameters } = document.paths[paths[0]][method.toLowerCase()]
      const inPath = parameters.filter((each: { in: string }) => each.in === 'path')
      expect(inPath.map((each: { name: string }) => each.name)).toEqual(params)
    }
  })
})

describe('a component', () => {
  it('is written once, even if a field with it is nullable or has a default', () => {
    const part = object({ size: integer() }, { title: 'Part' })
    const whole = object({ one: part, other: nullable(part), third: defaulted(part, { size: 1 }) })
    const wholes = defineOperations('wholes', {
      get: { summary: 'Read', method: 'GET', path: '/v1/w', access: secretKeyOnly, answer: isJsonResponse(whole) },
    })
    const { components, paths } = JSON.parse(openapiFile(Object.values<Operation>(wholes), '1').text)
    const ref = { $ref: '#/components/schemas/Part' }
    const { title, ...unnamed } = part.json
    expect(components.schemas[title ?? '']).toEqual(unnamed)
    expect(paths['/v1/w'].get.responses['200'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/WholesGetAnswer',
    })
    expect(components.schemas.WholesGetAnswer.properties).toEqual({
      one: ref,
      other: { anyOf: [ref, { type: 'null' }] },
      third: { description: 'Default: `{"size":1}`.', ...ref },
    })
  })
})

describe('an operation', () => {
  const thing = object({ size: defaulted(integer(), 1), note: optional(string()) }, { title: 'Thing' })
  const things = defineOperations('things', {
    create: {
      summary: 'Make',
      method: 'POST',
      path: '/v1/things',
      access: secretKeyOnly,
      body: thing,
      answer: isJsonResponse(thing, { status: 201 }),
    },
    follow: {
      summary: 'Follow',
      method: 'GET',
      path: '/v1/things/stream',
      access: secretKeyOnly,
      answer: answersEvents({ 'output_text.delta': object({ delta: string() }) }, { title: 'ThingEvent' }),
    },
  })
  const { paths, components } = JSON.parse(openapiFile(Object.values<Operation>(things), '1').text)

  it('requires fields with defaults in its answer and not in its body', () => {
    expect(components.schemas.Thing.required).toEqual(['size'])
    expect(components.schemas.ThingInput).toMatchObject({ required: [], additionalProperties: false })
  })

  it('lists its errors by status', () => {
    const { responses } = paths['/v1/things'].post
    expect(responses['403']).toEqual({
      $ref: '#/components/responses/PlatformError403',
      description: '`secret_key_required`, `insufficient_scope`, `tenant_suspended`, `tenant_deleting`',
    })
    const { schema } = components.responses.PlatformError403.content['application/json']
    expect(schema).toEqual({ $ref: '#/components/schemas/PlatformError' })
    expect(responses['422'].description).toContain('unknown_field')
    expect(responses['409'].description).toContain('idempotency_key_reused')
    expect(responses).toHaveProperty('201')
  })

  it('lists the events of its stream by their wire names', () => {
    const content = paths['/v1/things/stream'].get.responses['200'].content
    expect(Object.keys(content['text/event-stream']['x-events'])).toEqual(['response.output_text.delta'])
  })
})
