import type { MachineDefinition } from '#machines/definition.ts'
import type { GeneratedFile } from './generated-file.ts'

/** `console/actor-ids.js`: the prefix of actor ids, one per machine, so that the console can show ids as links. */
export const actorIds = (definitions: readonly MachineDefinition[]): GeneratedFile => ({
  path: 'console/actor-ids.js',
  text: [
    '/** How ids of actors begin, which have a page of their own. Made from the machines by `npm run generate`. */',
    `export const actorPrefixes = [${definitions.map(({ idPrefix }) => `'${idPrefix}'`).join(', ')}]`,
    '',
  ].join('\n'),
})
