import type { MachineDefinition } from '#machines/definition.ts'
import type { GeneratedFile } from './generated-file.ts'

/** The prefixes of a machine's ids: its own, and that of earlier releases. */
const prefixesOf = ({ idPrefix, olderIdPrefix }: MachineDefinition): readonly string[] =>
  olderIdPrefix === undefined ? [idPrefix] : [idPrefix, olderIdPrefix]

/** `console/actor-ids.js`: the prefixes of actor ids, so that the console can show ids as links. */
export const actorIds = (definitions: readonly MachineDefinition[]): GeneratedFile => ({
  path: 'console/actor-ids.js',
  text: [
    '/** How ids of actors begin, which have a page of their own. Made from the machines by `npm run generate`. */',
    `export const actorPrefixes = [${definitions
      .flatMap(prefixesOf)
      .map((prefix) => `'${prefix}'`)
      .join(', ')}]`,
    '',
  ].join('\n'),
})
