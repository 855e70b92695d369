import type { EstatePart } from './estate-part.ts'

/** The estate of the views of everything that runs, which change by what everybody does. */
export const observation: EstatePart = {
  changing: ['observation.actors', 'observation.attention', 'observation.find', 'observation.fleet'],
}
