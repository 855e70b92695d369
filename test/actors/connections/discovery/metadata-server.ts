import type { IncomingMessage, ServerResponse } from 'node:http'
import { LoopbackServer } from '#test/support/loopback-server.ts'

type Document = (server: MetadataServer) => unknown

/** Answers a request in a way that no JSON document can. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A resource at `/mcp` with its authorization server at the same origin. Documents by path are replaceable. */
export class MetadataServer extends LoopbackServer {
  readonly documents: Record<string, Document> = {}
  readonly answers: Record<string, Answer> = {}
  /** Requested paths, in order. */
  readonly requested: string[] = []
  /** Bodies of registrations, in order. */
  readonly registered: unknown[] = []

  get issuer(): string {
    return `http://${this.host}`
  }

  /** The resource's metadata. */
  resource(more: object = {}): object {
    return { resource: this.url('/mcp'), authorization_servers: [this.issuer], ...more }
  }

  /** The authorization server's metadata. */
  metadata(more: object = {}): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: this.url('/authorize'),
      token_endpoint: this.url('/token'),
      registration_endpoint: this.url('/register'),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...more,
    }
  }

  /** Serves the metadata at the places that need no fallback, with these changes. */
  serve({ resource = {}, metadata = {} }: { readonly resource?: object; readonly metadata?: object } = {}): this {
    this.documents['/.well-known/oauth-protected-resource/mcp'] = (at) => at.resource(resource)
    this.documents['/.well-known/oauth-authorization-server'] = (at) => at.metadata(metadata)
    return this
  }

  protected async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.requested.push(path)
    const answer = this.answers[path]
    if (answer !== undefined) return answer(response, request)
    if (path === '/register') {
      this.registered.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ client_id: `client-${this.registered.length}`, redirect_uris: [] }))
      return
    }
    const document = this.documents[path]
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(document === undefined ? '{}' : JSON.stringify(document(this)))
  }
}
