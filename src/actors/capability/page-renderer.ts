import { Port } from './port.ts'

export interface RenderRequest {
  /** Whose page it is: owners share the browsers. */
  readonly owner: { readonly project: string; readonly tenant: string | null }
  readonly url: string
  /** Maximum size of the rendered HTML, in characters. */
  readonly maxLength: number
  /** Time in ms, from when a browser is available. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Added to the user agent of the browser. */
  readonly userAgent: string
  /** Checks the URL of a document before it is requested. @throws {ServiceError} */
  readonly allowed: (url: URL) => Promise<void>
}

/** A page after its scripts have run. */
export interface RenderedPage {
  readonly finalUrl: string
  /** HTML of what the page shows, with its open shadow roots and the frames of its site. */
  readonly html: string
}

/** Renders pages in browsers. */
export interface PageRenderer {
  /** @throws {ServiceError} with the codes of `web.fetch` */
  render(request: RenderRequest): Promise<RenderedPage>
}

export const pageRenderer = new Port<PageRenderer>('the renderer of pages')
