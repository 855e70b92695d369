import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { GuardedFetch } from '#outgoing/guarded-fetch.ts'

/** Where a sign-in came back to: the code, and who says that it issued it. */
export interface Callback {
  readonly code: string
  readonly iss: string | undefined
}

/** A person who agrees at once: what signs in keeps all in memory and follows the authorization URL itself. */
export class MemoryProvider implements OAuthClientProvider {
  readonly redirectUrl = 'http://localhost:3000/callback'
  readonly clientMetadataUrl = 'https://conformance-test.local/client-metadata.json'
  readonly clientMetadata = {
    client_name: 'troupe',
    redirect_uris: ['http://localhost:3000/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
  }
  callback: Callback | null = null
  scope: string | undefined
  readonly #fetch: () => GuardedFetch
  readonly #registered: StoredOAuthClientInformation | undefined
  #client: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ''

  /** @param registered a client that the authorization server knows already. */
  constructor(fetch: () => GuardedFetch, registered?: StoredOAuthClientInformation) {
    this.#fetch = fetch
    this.#registered = registered
  }

  /** Credentials of one authorization server are for no other. */
  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    if (this.#client !== undefined && this.#client.issuer === context?.issuer) return this.#client
    return this.#registered
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.scope = url.searchParams.get('scope') ?? undefined
    const answer = await this.#fetch()(url, { redirect: 'manual' })
    await answer.body?.cancel()
    const back = new URL(answer.headers.get('location') ?? '', url)
    const code = back.searchParams.get('code')
    if (code === null) throw new Error(`no code: ${back.searchParams.get('error')}`)
    this.callback = { code, iss: back.searchParams.get('iss') ?? undefined }
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (what === 'all' || what === 'client') this.#client = undefined
    if (what === 'all' || what === 'tokens') this.#tokens = undefined
  }
}
