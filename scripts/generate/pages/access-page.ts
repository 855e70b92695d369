import type { Access } from '#specs/access.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { type CallerKind, type FieldRule, speakers, speakersOf } from '#specs/field-access.ts'
import { groupOf, isReading, tenancyOf } from '#specs/reach/key-scopes.ts'
import { subjectPlaces } from '#specs/reach/subject-places.ts'
import { type Reach, reach, type Subject, subjects } from '#specs/reach/subjects.ts'
import type { GeneratedFile } from '../generated-file.ts'

/** `specs/access.md`: who may call each operation, and who may set each field. */
export const accessPage = (operations: readonly Operation[]): GeneratedFile => {
  const text = [
    '# Who may do and say what',
    '',
    'Made from the declarations by `npm run generate`; the dispatcher holds both tables. A member reads, an approver also',
    'answers approvals, an admin changes what the project has, an owner manages members. Roles count for the dashboard only.',
    '',
    '## Operations',
    '',
    '| operation | credentials | permission of a client token | weakest role |',
    '|---|---|---|---|',
    ...operations.map(operationRow),
    '',
    '## Fields',
    '',
    'Every field that is not named here may be set by every credential that may call the operation.',
    '',
    '| operation | field | who may set it | the others |',
    '|---|---|---|---|',
    ...operations.flatMap((operation) => operation.fields.map((rule) => fieldRow(operation, rule))),
    '',
    ...subjectLines(operations),
    '',
    ...scopeLines(operations),
    '',
  ].join('\n')
  return { path: 'specs/access.md', text }
}

const reachWords: Readonly<Record<Reach, string>> = {
  any: 'any of the project',
  own: 'its own',
  installed: 'where its agent is installed',
  of_tenant: 'of such a tenant',
  permitted: 'as the agent permits',
  none: '–',
}

/** Which subjects a credential may name, and the fields that name them. */
const subjectLines = (operations: readonly Operation[]): readonly string[] => {
  const places = operations.flatMap((operation) => subjectPlaces(operation).map((place) => ({ operation, place })))
  const namesOf = (subject: Subject) => [
    ...new Set(
      places.filter(({ place }) => place.subject === subject).map(({ place }) => `${place.part} \`${place.name}\``),
    ),
  ]
  return [
    '## Subjects',
    '',
    'What else a request names, in any operation that the credential may call. A subject that it may not name is 404 as an',
    'unknown one, or 403 with the place in `param` (`reach` in specs/reach/subjects.ts).',
    '',
    `| subject | ${speakers.map((speaker) => speaker.replaceAll('_', ' ')).join(' | ')} |`,
    `|---|${speakers.map(() => '---|').join('')}`,
    ...subjects.map(
      (subject) =>
        `| ${subject.replaceAll('_', ' ')} | ${speakers.map((speaker) => reachWords[reach[speaker][subject]]).join(' | ')} |`,
    ),
    '',
    '| subject | fields |',
    '|---|---|',
    ...subjects.map((subject) => `| ${subject.replaceAll('_', ' ')} | ${namesOf(subject).join(', ')} |`),
  ]
}

/** Operations by the group that a key's `operations` name. */
const scopeLines = (operations: readonly Operation[]): readonly string[] => {
  const byKeys = operations.filter(({ access }) => access.kinds.includes('secret_key'))
  const words = { owned: 'names a tenant', shared: 'yes', project: '–' } as const
  const shown = (operation: Operation) =>
    `| \`${operation.id}\` | ${groupOf(operation)} | ${isReading(operation) ? 'read' : 'write'} | ${words[tenancyOf(operation)]} |`
  return [
    '## Scopes of keys',
    '',
    'Without `scopes`, a key may call every operation that its kind may call. A key with `tenants` may call those of the last column.',
    '',
    '| operation | group | kind | with `tenants` |',
    '|---|---|---|---|',
    ...byKeys.map(shown),
  ]
}

/** Formats field rules as sentences of the API reference: one sentence for all fields with the same rule. */
export const fieldSentences = (rules: readonly FieldRule[]): readonly string[] =>
  [...Map.groupBy(rules, (rule) => JSON.stringify([rule.by, rule.unlessLeave])).values()].map((same) => {
    const [{ by, unlessLeave } = { by: [] }] = same
    const names = inWords(same.map(nameOf))
    const leave =
      unlessLeave === undefined
        ? ''
        : `, unless the session has no agent or the \`${unlessLeave}\` of its agent name the field`
    return `Only ${inWords(by.map((speaker) => speakerWords[speaker]))} may set ${names}. Other credentials get 403 \`secret_key_required\`${leave}.`
  })

const speakerWords: Readonly<Record<CallerKind, string>> = {
  secret_key: 'secret keys',
  agent_secret_key: 'secret keys of an agent',
  agent_public_key: 'public keys of an agent',
  client_token: 'client tokens',
  dashboard: 'dashboard sessions',
}

/** Joins words as `a`, `a and b`, `a, b and c`. */
const inWords = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ')

const operationRow = ({ id, access }: Operation): string => {
  const who = access.kinds.includes('public') ? 'no credential needed' : listed(speakersOf(access))
  return `| \`${id}\` | ${who} | ${access.permissions?.join(' or ') ?? ''} | ${weakestRole(access)} |`
}

const weakestRole = ({ kinds, role, console }: Access): string =>
  kinds.includes('dashboard') ? (role ?? '') : console === undefined ? '' : `${console}, in the console`

const fieldRow = ({ id, access }: Operation, rule: FieldRule): string => {
  const mayCall = speakersOf(access)
  const others = mayCall.filter((speaker) => !rule.by.includes(speaker))
  return `| \`${id}\` | ${nameOf(rule)} | ${listed(mayCall.filter((speaker) => rule.by.includes(speaker)))} | ${listed(others)}: 403${exception(rule)} |`
}

const nameOf = ({ field, itemTypes }: FieldRule): string =>
  itemTypes === undefined
    ? `\`${field}\``
    : `\`${field}\` of type ${itemTypes.map((type) => `\`${type}\``).join(' or ')}`

const exception = ({ field, unlessLeave }: FieldRule): string =>
  unlessLeave === undefined ? '' : `, unless there is no agent or its config names ${field} in \`${unlessLeave}\``

const listed = (names: readonly string[]): string => names.map((name) => name.replaceAll('_', ' ')).join(', ')
