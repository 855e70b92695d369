import { anyObject, connectorType, reads, text, whole, writes } from './connector-type.ts'

/** Notion. */
export const notion = connectorType({
  id: 'notion',
  name: 'Notion',
  description: 'Pages and databases of a Notion workspace.',
  auth: 'oauth2',
  base_url: 'https://api.notion.com/v1',
  headers: { 'notion-version': '2022-06-28' },
  oauth: {
    authorization_url: 'https://api.notion.com/v1/oauth/authorize',
    token_url: 'https://api.notion.com/v1/oauth/token',
    revocation_url: null,
    issuer: null,
    scopes: [],
    token_auth_method: 'client_secret_basic',
    parameters: { owner: 'user' },
  },
  test: { method: 'GET', path: '/users/me' },
  tools: [
    reads({
      name: 'notion_search',
      description: 'Searches pages and databases by their title.',
      method: 'POST',
      path: '/search',
      takes: { query: text('Words of the title.'), 'page_size?': whole('Most results.') },
    }),
    reads({
      name: 'notion_read_page',
      description: 'Returns the blocks of a page.',
      path: '/blocks/{page_id}/children',
      takes: { page_id: text('Id of the page.') },
    }),
    reads({
      name: 'notion_query_database',
      description: 'Returns rows of a database.',
      method: 'POST',
      path: '/databases/{database_id}/query',
      takes: { database_id: text('Id of the database.'), 'filter?': anyObject('Filter in the form of Notion.') },
    }),
    writes({
      name: 'notion_create_page',
      description: 'Creates a page.',
      path: '/pages',
      takes: {
        parent: anyObject('`{"page_id": "…"}` or `{"database_id": "…"}`'),
        properties: anyObject('Properties in the form of Notion.'),
      },
    }),
  ],
})
