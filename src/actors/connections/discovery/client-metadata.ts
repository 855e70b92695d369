import { isLoopback } from '#outgoing/credential-address.ts'
import type { SignInLinks } from '../oauth/sign-in-links.ts'

/** Description of this server as an OAuth client (RFC 7591). */
export const clientMetadata = (redirectUri: string) => ({
  client_name: 'Troupe',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  application_type: isLoopback(new URL(redirectUri).hostname) ? 'native' : 'web',
})

/**
 * Returns the document at `connections.client_metadata`, whose URL is the client id at servers that read such
 * documents; null when the server has no https address, because only such an address can be a client id.
 */
export const clientDocument = ({ clientDocumentUrl, callbackUrl }: SignInLinks) =>
  clientDocumentUrl === null
    ? null
    : {
        client_id: clientDocumentUrl,
        client_uri: new URL('.', clientDocumentUrl).href,
        ...clientMetadata(callbackUrl),
        token_endpoint_auth_method: 'none',
      }
