// SPDX-License-Identifier: Apache-2.0
// Sends what it receives, through 16 beats, each after a random time.
module stream_loopback (
    input         clk,
    input         rst_n,
    input  [63:0] s_axis_tdata,
    input  [7:0]  s_axis_tkeep,
    input         s_axis_tlast,
    input         s_axis_tvalid,
    output        s_axis_tready,
    output [63:0] m_axis_tdata,
    output [7:0]  m_axis_tkeep,
    output        m_axis_tlast,
    output        m_axis_tvalid,
    input         m_axis_tready
);
    reg [72:0] beats [0:15];
    reg [4:0]  written, read;
    reg        valid;
    reg [15:0] random;
    wire [4:0] count = written - read;
    assign s_axis_tready = count != 16 && random[3];
    assign m_axis_tvalid = valid;
    assign {m_axis_tlast, m_axis_tkeep, m_axis_tdata} = beats[read[3:0]];
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            written <= 0;
            read    <= 0;
            valid   <= 0;
            random  <= 16'hbeef;
        end else begin
            if (s_axis_tvalid || count != 0)
                random <= {random[14:0], random[15] ^ random[13] ^ random[12] ^ random[10]};
            if (s_axis_tvalid && s_axis_tready) begin
                beats[written[3:0]] <= {s_axis_tlast, s_axis_tkeep, s_axis_tdata};
                written <= written + 5'd1;
            end
            if (valid && m_axis_tready) begin
                valid <= 0;
                read  <= read + 5'd1;
            end else if (!valid && count != 0 && random[7]) valid <= 1;
        end
endmodule
