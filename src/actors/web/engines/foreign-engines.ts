import { Port } from '#actors/capability/port.ts'
import type { SearchEngineSettings } from '#specs/search-engines.ts'

/** Search engines of third parties that the operator has declared. */
export const foreignEnginesPort = new Port<readonly SearchEngineSettings[]>('search engines of third parties')
