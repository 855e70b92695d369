import type { Operation } from '#specs/dsl/declare.ts'
import { type FieldRule, speakersOf } from '#specs/field-access.ts'
import type { GeneratedFile } from './generated-file.ts'

/** `specs/access.md`: who may call what, and who may set which field. */
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
    'Every field that is not named here is for everybody who may call the operation.',
    '',
    '| operation | field | who may set it | the others |',
    '|---|---|---|---|',
    ...operations.flatMap((operation) => operation.fields.map((rule) => fieldRow(operation, rule))),
    '',
  ].join('\n')
  return { path: 'specs/access.md', text }
}

/** A rule as a sentence of the API reference. */
export const fieldSentence = (rule: FieldRule): string =>
  `${nameOf(rule)} is for ${listed(rule.by)}; any other credential is answered 403 \`secret_key_required\`${exception(rule)}.`

const operationRow = ({ id, access }: Operation): string => {
  const who = access.kinds.includes('public') ? 'no credential needed' : listed(speakersOf(access))
  return `| \`${id}\` | ${who} | ${access.permission ?? ''} | ${access.kinds.includes('dashboard') ? (access.role ?? '') : ''} |`
}

const fieldRow = ({ id, access }: Operation, rule: FieldRule): string => {
  const mayCall = speakersOf(access)
  const others = mayCall.filter((speaker) => !rule.by.includes(speaker))
  return `| \`${id}\` | ${nameOf(rule)} | ${listed(mayCall.filter((speaker) => rule.by.includes(speaker)))} | ${listed(others)}: 403${exception(rule)} |`
}

const nameOf = ({ field, itemTypes }: FieldRule): string =>
  itemTypes === undefined ? `\`${field}\`` : `\`${field}\` with an item of type ${itemTypes.join(', ')}`

const exception = ({ field, unlessLeave }: FieldRule): string =>
  unlessLeave === undefined ? '' : `, unless there is no agent or its config names ${field} in \`${unlessLeave}\``

const listed = (names: readonly string[]): string => names.map((name) => name.replaceAll('_', ' ')).join(', ')
