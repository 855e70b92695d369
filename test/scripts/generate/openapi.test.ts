import { describe, expect, it } from 'vitest'
import { openapiFile } from '../../../scripts/generate/openapi.ts'
import { secretKeyOnly } from '../../../specs/access.ts'
import { answersEvents, answersJson } from '../../../specs/answer.ts'
import { defineOperations, type Operation } from '../../../specs/declare.ts'
import { operations } from '../../../specs/index.ts'
import { defaulted, integer, nullable, object, optional, string } from '../../../specs/schema.ts'
import { webhookEventTypes } from '../../../specs/webhook-events.ts'

const declared: readonly Operation[] = Object.values(operations)
const document = JSON.parse(openapiFile(declared, '1.2.3').text)

/** Every value of a key, at any depth. */
const valuesOf = (value: unknown, key: string): readonly unknown[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => (name === key ? [child] : valuesOf(child, key)))
}

describe('the OpenAPI document', () => {
  it('has every operation under its first path, and names the others', () => {
    for (const { id, method, paths } of declared) {
      const operation = document.paths[paths[0]][method.toLowerCase()]
      expect(operation.operationId).toBe(id)
      expect(operation['x-also-at'] ?? []).toEqual(paths.slice(1))
    }
  })

  it('tells of every event that webhooks are told of, with its schema', () => {
    expect(Object.keys(document.webhooks)).toEqual(webhookEventTypes)
    for (const type of webhookEventTypes) {
      const { schema } = document.webhooks[type].post.requestBody.content['application/json']
      expect(schema.properties).toMatchObject({ type: { enum: [type] }, data: { properties: { tenant_id: {} } } })
    }
  })

  it('refers to nothing that is not in it', () => {
    const names = valuesOf(document, '$ref').map((ref) => String(ref).replace('#/components/schemas/', ''))
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter((name) => !(name in document.components.schemas))).toEqual([])
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
  it('is written once, whether a field that holds it may be null or has a default', () => {
    const part = object({ size: integer() }, { title: 'Part' })
    const whole = object({ one: part, other: nullable(part), third: defaulted(part, { size: 1 }) })
    const wholes = defineOperations('wholes', {
      get: { summary: 'Read', method: 'GET', path: '/v1/w', access: secretKeyOnly, answer: answersJson(whole) },
    })
    const { components, paths } = JSON.parse(openapiFile(Object.values<Operation>(wholes), '1').text)
    const ref = { $ref: '#/components/schemas/Part' }
    expect(components.schemas.Part).toEqual({ ...part.json, title: 'Part' })
    const { content } = paths['/v1/w'].get.responses['200']
    expect(content['application/json'].schema.properties).toEqual({
      one: ref,
      other: { anyOf: [ref, { type: 'null' }] },
      third: { default: { size: 1 }, ...ref },
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
      answer: answersJson(thing, { status: 201 }),
    },
    follow: {
      summary: 'Follow',
      method: 'GET',
      path: '/v1/things/stream',
      access: secretKeyOnly,
      answer: answersEvents({ 'output_text.delta': object({ delta: string() }) }),
    },
  })
  const { paths, components } = JSON.parse(openapiFile(Object.values<Operation>(things), '1').text)

  it('has a default filled in by its answer and left out by its body', () => {
    expect(components.schemas.Thing.required).toEqual(['size'])
    expect(components.schemas.ThingInput).toMatchObject({ required: [], additionalProperties: false })
  })

  it('lists its errors by status', () => {
    const { responses } = paths['/v1/things'].post
    expect(responses['403'].description).toBe('secret_key_required')
    expect(responses['422'].description).toContain('unknown_field')
    expect(responses['409'].description).toContain('idempotency_key_reused')
    expect(responses).toHaveProperty('201')
  })

  it('names the events of its stream as the stream does', () => {
    const content = paths['/v1/things/stream'].get.responses['200'].content
    expect(Object.keys(content['text/event-stream']['x-events'])).toEqual(['response.output_text.delta'])
  })
})
