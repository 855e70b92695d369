import { webFetch } from '#specs/resources/web/web-fetch.ts'
import { capability } from '../capability/capability.ts'
import { fetchUseCase } from './fetch/fetch-use-case.ts'
import { PageFetcher } from './fetch/page-fetcher.ts'

/** Pages of the public web: fetched under guard, and what they say. */
export const web = capability({
  name: 'web',
  operations: { ...webFetch },
  kinds: [],
  open: (house) => {
    const pages = new PageFetcher(house.guard.content, house.now)
    return { useCases: { 'web.fetch': fetchUseCase(pages) } }
  },
})
