import { isIdOf, type MachineDefinition } from './definition.ts'

/**
 * Returns the definition of the actor with this id, by the prefix of the id; undefined if no machine has the prefix.
 */
export const definitionOf = (definitions: readonly MachineDefinition[], id: string): MachineDefinition | undefined =>
  definitions.find((definition) => isIdOf(definition, id))
