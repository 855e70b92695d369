import { namesTenants, type Operation } from '../dsl/declare.ts'
import type { JsonSchema } from '../dsl/schema.ts'
import { plainFields, type RequestPart, type Subject, subjectFields, subjects } from './subjects.ts'

/** A field of an operation that names a subject. */
export interface SubjectPlace {
  readonly part: RequestPart
  /** Name of a header or parameter, or path in the body. */
  readonly name: string
  readonly subject: Subject
}

/** Words that names of such fields contain. */
const suspect =
  /(^|_)ids?$|Ids?$|model|provider|tenant|user|agent|installation|session|server|owner|subject|project|member|(^|_)key|Key$|connect|skill|knowledge|plan|conversation/i

/**
 * Returns the fields of an operation that name a subject.
 *
 * An id in a path that no table has is that of a `resource`.
 *
 * @throws {Error} for another field that looks like one and is in neither table of specs/reach/subjects.ts
 */
export const subjectPlaces = (operation: Operation): readonly SubjectPlace[] => {
  const { params, query, body, access } = operation
  const headers = [
    ...(namesTenants(operation) ? ['X-Tenant-Id', 'X-External-User-Id'] : []),
    ...(access.kinds.includes('dashboard') ? ['X-Project-Id'] : []),
  ]
  const names: readonly (readonly [RequestPart, readonly string[]])[] = [
    ['header', headers],
    ['path', params],
    ['query', Object.keys(query)],
    ['body', body === null ? [] : [...new Set(pathsIn(body.json, ''))]],
  ]
  return names.flatMap(([part, found]) => found.flatMap((name) => placeOf(operation.id, part, name)))
}

const placeOf = (id: string, part: RequestPart, name: string): readonly SubjectPlace[] => {
  const subject = subjectOf(part, name)
  if (subject !== undefined) return [{ part, name, subject }]
  if (subjectOf(part, `${name}[]`) !== undefined) return []
  const last = name.split('.').at(-1) ?? ''
  if (!suspect.test(last) || plainFields[part].includes(name)) return []
  if (part === 'path') return [{ part, name, subject: 'resource' }]
  throw new Error(
    `${id}: ${part} ${name} looks like the name of a subject. Add it to subjectFields or plainFields (specs/reach/subjects.ts).`,
  )
}

const subjectOf = (part: RequestPart, name: string): Subject | undefined =>
  subjects.find((each) => subjectFields[part][each].includes(name))

/** Paths of all declared fields of a body: `memory.userId`, `tools[].server_id`, and `models[]` for a list of texts. */
const pathsIn = (schema: JsonSchema, at: string): readonly string[] => {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = at === '' ? name : `${at}.${name}`
    return [path, ...pathsIn(field, path)]
  })
  const items = schema.items === undefined ? [] : [...itemPath(schema.items, at), ...pathsIn(schema.items, `${at}[]`)]
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((branch) => pathsIn(branch, at))
  return [...own, ...items, ...branches]
}

const itemPath = (items: JsonSchema, at: string): readonly string[] => (items.type === 'string' ? [`${at}[]`] : [])
