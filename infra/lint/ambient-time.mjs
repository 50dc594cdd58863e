/**
 * A rule for oxlint: `new Date()` without an argument reads the machine's clock, and time is a parameter in Hawser. With
 * an argument it only converts, which is allowed. Date.now, timers and chance are banned by oxlint's own rules.
 */
const noCurrentDate = {
  meta: { type: "problem", schema: [] },
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.type === "Identifier" && node.callee.name === "Date" && node.arguments.length === 0) {
        context.report({ node, message: "Time is a parameter: take `clock.now()` of the Clock that was passed in." });
      }
    },
  }),
};

const plugin = { meta: { name: "hawser" }, rules: { "no-current-date": noCurrentDate } };

export default plugin;
