// Asks the search of a site that mkdocs-material built, as a browser would: node search_site.js SITE QUERY...
// Prints a line of JSON for each query: the places that it finds, best first.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const folder = path.join(site, "assets", "javascripts", "workers");
const worker = fs.readdirSync(folder).find((name) => name.endsWith(".js"));
const listeners = [];
let answer = null;
const scope = {
    console,
    setTimeout,
    location: { href: "http://site/assets/javascripts/workers/" + worker },
    importScripts: (...names) => { throw new Error("the search wants other scripts: " + names); },
    postMessage: (message) => { answer = message; },
    addEventListener: (type, listener) => { if (type === "message") listeners.push(listener); },
};
scope.self = scope.globalThis = scope;
vm.createContext(scope);
vm.runInContext(fs.readFileSync(path.join(folder, worker), "utf8"), scope);

const SETUP = 0, QUERY = 2;
const tell = async (type, data) => { for (const listener of listeners) await listener({ data: { type, data } }); };

(async () => {
    const index = JSON.parse(fs.readFileSync(path.join(site, "search", "search_index.json"), "utf8"));
    await tell(SETUP, { ...index, options: { suggest: false } });
    for (const query of queries) {
        await tell(QUERY, query);
        console.log(JSON.stringify(answer.data.items.map((found) => found[0].location)));
    }
})();
