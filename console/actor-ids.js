/** How ids of actors begin, which have a page of their own. Made from the machines by `npm run generate`. */
export const actorPrefixes = ['era', 'dlv', 'resp', 'batch', 'mwr', 'agv', 'ses', 'act', 'run', 'rqu', 'src', 'ksr', 'crw', 'con', 'job', 'mcp']
