// SPDX-License-Identifier: Apache-2.0
// A pulse of one cycle in every eighth cycle.
module pulser (
    input      clk,
    input      rst_n,
    output reg pulse
);
    reg [2:0] n;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            n     <= 0;
            pulse <= 0;
        end else begin
            n     <= n + 1;
            pulse <= n == 0;
        end
endmodule
