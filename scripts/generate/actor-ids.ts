import type { MachineDefinition } from '#machines/definition.ts'
import type { GeneratedFile } from './generated-file.ts'

/** The prefixes of a machine's ids, its own and that of earlier releases, each with the machine. */
const prefixesOf = ({ name, idPrefix, olderIdPrefix }: MachineDefinition): readonly string[] =>
  [idPrefix, olderIdPrefix].flatMap((prefix) => (prefix === undefined ? [] : [`  ${prefix}: '${name}',`]))

/** `console/actor-ids.ts`: the prefixes of actor ids, so that the console can show ids as links. */
export const actorIds = (definitions: readonly MachineDefinition[]): GeneratedFile => ({
  path: 'console/actor-ids.ts',
  text: [
    '/** The machine of an actor by how its id begins. Made from the machines by `npm run generate`. */',
    'export const actorPrefixes: Readonly<Record<string, string>> = {',
    ...definitions.flatMap(prefixesOf),
    '}',
    '',
  ].join('\n'),
})
