import type { MachineDefinition } from './definition.ts'

/** The definition of the actor with this id, by its prefix; undefined for an id of another kind. */
export const definitionOf = (definitions: readonly MachineDefinition[], id: string): MachineDefinition | undefined =>
  definitions.find((definition) => id.startsWith(`${definition.idPrefix}_`))
