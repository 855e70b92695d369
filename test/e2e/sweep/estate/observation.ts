import type { EstatePart } from './estate-part.ts'

/** The estate of the views of running actors and of a project's calls, which change with every activity. */
export const observation: EstatePart = {
  changing: [
    'observation.actors',
    'observation.attention',
    'observation.find',
    'observation.fleet',
    'observation.names',
    'observation.series',
  ],
}
