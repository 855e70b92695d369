import { connectorType, reads, text, texts, whole, word, writes } from './connector-type.ts'

const repository = { owner: text('Owner of the repository.'), repo: text('Name of the repository.') }

/** GitHub. */
export const github = connectorType({
  id: 'github',
  name: 'GitHub',
  description: 'Repositories, issues and pull requests of GitHub.',
  auth: 'oauth2',
  base_url: 'https://api.github.com',
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  oauth: {
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    revocation_url: null,
    issuer: null,
    scopes: ['repo', 'read:user'],
    token_auth_method: 'client_secret_post',
  },
  test: { method: 'GET', path: '/user' },
  tools: [
    reads({
      name: 'github_search_issues',
      description: 'Searches issues and pull requests.',
      path: '/search/issues',
      takes: { q: text('Search in the syntax of GitHub.'), 'per_page?': whole('Most results.') },
    }),
    reads({
      name: 'github_list_issues',
      description: 'Lists issues of a repository.',
      path: '/repos/{owner}/{repo}/issues',
      takes: { ...repository, 'state?': word('open', 'closed', 'all'), 'per_page?': whole('Most results.') },
    }),
    reads({
      name: 'github_get_file',
      description: 'Returns a file of a repository, in base64.',
      path: '/repos/{owner}/{repo}/contents/{path}',
      takes: { ...repository, path: text('Path of the file.'), 'ref?': text('Branch, tag or commit.') },
    }),
    reads({
      name: 'github_get_pull_request',
      description: 'Returns a pull request.',
      path: '/repos/{owner}/{repo}/pulls/{pull_number}',
      takes: { ...repository, pull_number: whole('Number of the pull request.') },
    }),
    writes({
      name: 'github_create_issue',
      description: 'Creates an issue.',
      path: '/repos/{owner}/{repo}/issues',
      takes: {
        ...repository,
        title: text('Title of the issue.'),
        'body?': text('Text in Markdown.'),
        'labels?': texts('Labels.'),
      },
    }),
    writes({
      name: 'github_comment_issue',
      description: 'Comments on an issue or a pull request.',
      path: '/repos/{owner}/{repo}/issues/{issue_number}/comments',
      takes: { ...repository, issue_number: whole('Number of the issue.'), body: text('Text in Markdown.') },
    }),
  ],
})
