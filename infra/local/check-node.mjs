// Runs before everything else, on whatever Node is there: so nothing in this file may be newer than Node 12 knows.
var major = Number(process.versions.node.split(".")[0]);

if (major < 24) {
  console.error(
    [
      "Hawser needs Node 24 or newer, and this is " + process.version + " (" + process.execPath + ").",
      '  "npm ci" installs a fitting one into node_modules/.bin, and npm scripts use it by themselves. It was not installed if',
      "  - install scripts were switched off (--ignore-scripts, or ignore-scripts=true in .npmrc): run npm ci without that;",
      "  - optional dependencies were left out (--omit=optional): run npm ci without that;",
      "  - the machine uses musl instead of glibc (Alpine Linux), or there is no build for it: install Node 24 yourself",
      '    (Alpine: "apk add nodejs npm") and run "npm ci --ignore-scripts".',
    ].join("\n"),
  );
  process.exit(1);
}
