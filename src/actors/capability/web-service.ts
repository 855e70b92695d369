import { Port } from './port.ts'

/** A page that a search of the server's own web index found. All of its text is untrusted. */
interface WebFound {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** The index of web pages, as model calls search it. */
export interface WebService {
  /** Searches the index. @param limit maximum number of results. @throws {StoreUnavailable} */
  search(project: string, query: string, options: { readonly limit: number }): Promise<readonly WebFound[]>
}

/** The index of web pages, as model calls search it. */
export const webService = new Port<WebService>('the index of pages')
