import { Port } from './port.ts'

/** A page that a search of the own index found. All of it is untrusted text. */
export interface WebFound {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** The index of pages, as model calls search it. */
export interface WebService {
  /** @param limit results at most. @throws {StoreUnavailable} */
  search(project: string, query: string, options: { readonly limit: number }): Promise<readonly WebFound[]>
}

/** The index of pages, as model calls search it. */
export const webService = new Port<WebService>('the index of pages')
