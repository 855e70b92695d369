/** Whose memory the URL names: what every operation on it needs. @param {import('../parts/query-form.js').Place} place */
export const ownerOf = ({ query: { user = '', tenant = '' } }) => ({ user, tenant })
