import { expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { secretKeyOnly } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperation, type Operation } from '#specs/dsl/declare.ts'
import { object, optional, string } from '#specs/dsl/schema.ts'
import { subjectPlaces } from '#specs/reach/subject-places.ts'
import { plainFields, reach, subjectFields, subjects } from '#specs/reach/subjects.ts'

const declared: readonly Operation[] = Object.values(operations)

it('every field that names a subject is in the table of subjects', () => {
  const places = declared.flatMap((operation) => subjectPlaces(operation))
  for (const subject of subjects) expect(places.map((place) => place.subject)).toContain(subject)
})

it('a new field that looks like the name of a subject is an error until it is in a table', () => {
  const withField = (name: string) =>
    defineOperation('things.create', {
      ...{ summary: 'Create a thing', method: 'POST', path: '/v1/things', access: secretKeyOnly },
      body: object({ outer: optional(object({ [name]: string() })) }),
      answer: isJsonResponse(object({}), { status: 201 }),
    })
  for (const name of ['wallet_id', 'walletId', 'billing_tenant', 'fallback_model'])
    expect(() => subjectPlaces(withField(name))).toThrow(`things.create: body outer.${name}`)
  expect(subjectPlaces(withField('colour')).filter(({ part }) => part === 'body')).toEqual([])
})

it('an id in a path that no table has is that of a resource, which only keys and the dashboard reach', () => {
  const get = defineOperation('wallets.get', {
    ...{ summary: 'Retrieve a wallet', method: 'GET', path: '/v1/wallets/{wallet_id}', access: secretKeyOnly },
    answer: isJsonResponse(object({})),
  })
  expect(subjectPlaces(get)).toContainEqual({ part: 'path', name: 'wallet_id', subject: 'resource' })
  expect(
    Object.entries(reach)
      .filter(([, { resource }]) => resource !== 'none')
      .map(([kind]) => kind),
  ).toEqual(['secret_key', 'dashboard'])
})

it('no field is in two tables', () => {
  for (const part of ['header', 'path', 'query', 'body'] as const) {
    const names = [...subjects.flatMap((subject) => subjectFields[part][subject]), ...plainFields[part]]
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  }
})
