import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { resources } from '../../console/resources/resources.ts'

const folder = fileURLToPath(new URL('../../console', import.meta.url))
const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(
    (path) => path.endsWith('.ts') && !/^(vendor|operations\.ts|answers\.d\.ts|resources\/resources\.ts)/.test(path),
  )
  .map((path) => readFileSync(join(folder, path), 'utf8'))
  .join('\n')

const declared: readonly Operation[] = Object.values(operations)
const isForMembers = (id: string): boolean =>
  declared.some((each) => each.id === id && each.access.kinds.includes('dashboard'))
const resourceIn = (id: string): string => id.slice(0, id.indexOf('.'))
const verbIn = (id: string): string => id.slice(id.indexOf('.') + 1)

/** Operations by which a member makes a resource that it can read afterwards: others are calls, such as of a model. */
const creating = declared
  .map(({ id }) => id)
  .filter((id) => /^(create|put|add)$/.test(verbIn(id)) && isForMembers(id))
  .filter((id) => ['list', 'get'].some((verb) => isForMembers(`${resourceIn(id)}.${verb}`)))

/** What no page makes, each with the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  'files.create':
    'the body is the file itself; the playground attaches files, and sources of knowledge take text and URLs',
  'conversations.create': 'the playground keeps its conversation in the request',
  'conversation_items.add': 'the same',
  'gemini.generate': 'a call of a model',
}

describe('every resource that a member may create', () => {
  const byForm = new Set<string | undefined>(
    resources.flatMap(({ create, update, single, acts }) => [
      create?.id,
      ...(single ? [update?.id] : []),
      ...acts.map((act) => act?.id),
    ]),
  )

  it('is created from a page of the console', () => {
    const missing = creating.filter(
      (id) => !byForm.has(id) && !pages.includes(`'${id}'`) && elsewhere[id] === undefined,
    )
    expect(missing).toEqual([])
    expect(creating.length).toBeGreaterThan(30)
  })

  it('has a form with each of its required fields', () => {
    const forms = resources.flatMap(({ create }) => (create === null ? [] : [create]))
    const incomplete = forms.flatMap(({ id, fields }) => {
      const operation = declared.find((each) => each.id === id)
      const required = operation?.body?.json.required ?? []
      return required.filter((name) => !fields.some((field) => field.name === name)).map((name) => `${id} ${name}`)
    })
    expect(incomplete).toEqual([])
  })
})
